/** SVG text neither wraps nor cuts itself. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1)).trimEnd()}…`;
}
