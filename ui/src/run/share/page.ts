import type { Viewer } from "./viewer-source";

/** The whole of a shared file. Its own policy lets nothing in or out but its one script. */
export function sharedPage(title: string, lines: readonly string[], viewer: Viewer, nonce: string): string {
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    "style-src 'unsafe-inline'",
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const script = viewer.script.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${viewer.style}</style>
</head>
<body>
<div id="app"></div>
<script id="events" type="application/x-ndjson">
${lines.map(inScript).join("\n")}
</script>
<script type="module" nonce="${nonce}">${script}</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** JSON may write any sign as its code: so nothing in it can end the script it stands in. */
function inScript(line: string): string {
  return line.replaceAll("<", "\\u003c");
}
