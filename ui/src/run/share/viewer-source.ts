import { viewerUrl } from "./viewer";

export interface Viewer {
  script: string;
  style: string;
}

const IMPORT = /(?:^|[;}\n])\s*import\s*[\w{*"']/;

/** The texts a shared file is made of: the script that shows runs, and the styles of this page. */
export async function readViewer(): Promise<Viewer> {
  const script = await read(viewerUrl);
  if (IMPORT.test(script)) throw new Error("only a built dashboard can make one");
  const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[rel="stylesheet"]')];
  const styles = await Promise.all(sheets.map(({ href }) => read(href)));
  return { script, style: styles.join("\n") };
}

async function read(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`the service answered ${response.status}`);
  return response.text();
}
