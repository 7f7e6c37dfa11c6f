/** Lets a number that is copied alone be copied with all its digits. Returns what stops it. */
export function copyExact(): () => void {
  const onCopy = (event: ClipboardEvent): void => {
    const selection = getSelection();
    if (selection === null || selection.isCollapsed || selection.rangeCount !== 1) return;
    const within = selection.getRangeAt(0).commonAncestorContainer;
    const element = (within instanceof Element ? within : within.parentElement)?.closest<HTMLElement>("[data-exact]");
    const exact = element?.dataset["exact"];
    if (exact === undefined) return;
    event.clipboardData?.setData("text/plain", exact);
    event.preventDefault();
  };
  document.addEventListener("copy", onCopy);
  return () => document.removeEventListener("copy", onCopy);
}
