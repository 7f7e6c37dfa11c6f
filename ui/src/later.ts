// Pages in the chunk that is loaded when one of them is opened (vite.config.ts).

export { default as GoTo } from "./frame/GoTo.svelte";
export { default as IssuePage } from "./issues/IssuePage.svelte";
export { default as IssuesPage } from "./issues/IssuesPage.svelte";
export { default as MissingRun } from "./frame/MissingRun.svelte";
export { default as SettingsPage } from "./settings/SettingsPage.svelte";
