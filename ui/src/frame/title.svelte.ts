/** Names the page in its tab. */
export function title(text: () => string): void {
  $effect(() => {
    document.title = `${text()} · queryscope`;
  });
}
