import { mount } from "svelte";
import App from "./App.svelte";
import { live } from "./live/live.svelte";
import "./style/tokens.css";
import "./style/base.css";

const target = document.getElementById("app");
if (target === null) throw new Error("the page has no #app");
live.start();
mount(App, { target });
