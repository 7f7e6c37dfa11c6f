// Pages in the chunk that is loaded when a run or a file is opened (vite.config.ts).

export { default as OpenPage } from "./OpenPage.svelte";
export { default as RunPage } from "./RunPage.svelte";
