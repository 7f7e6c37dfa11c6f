// All that shows a run, as one script without imports (vite.config.ts). The dashboard takes its parts from it; in a
// shared file it finds the events beside it and shows them.

import { mount } from "svelte";
import { readRecording } from "../../model/run/run";
import SharedRun from "./SharedRun.svelte";

/** Where this script was loaded from. */
export const viewerUrl = import.meta.url;

const events = document.getElementById("events");
const target = document.getElementById("app");
if (events && target) mount(SharedRun, { target, props: { recording: readRecording(events.textContent ?? "") } });
