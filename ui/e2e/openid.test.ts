// Logging in at a real provider of OpenID Connect.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { writeFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Provider from "oidc-provider";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch } from "./browser";
import { Service } from "./service";

const SECRET = "a secret of the client of these tests";
const WAIT_MS = 60_000;
/** The groups of the users of the provider. */
const GROUPS: Record<string, string[]> = { ada: ["staff", "ops"], bob: ["etl=team"], eve: ["guests"] };

let server: Server;
let folder: string;
let service: Service;
let browser: Browser;
let isAway = false;
/** What the provider was asked with. */
const asked: URLSearchParams[] = [];

/** A server whose handler comes later: the provider must know its address, and the address of the service. */
function listen(): Promise<Server> {
  const server = createServer();
  return new Promise((then) => server.listen(0, "127.0.0.1", () => then(server)));
}

beforeAll(async () => {
  server = await listen();
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "queryscope-openid-"));
  const file = join(folder, "secret");
  writeFileSync(file, `${SECRET}\n`);
  const flags = [
    ...["--login", "--oidc-issuer", issuer, "--oidc-client-id", "queryscope", "--oidc-client-secret-file", file],
    ...["--oidc-scope", "profile", "--oidc-role", "staff=viewer", "--oidc-role", "ops=admin"],
    ...["--oidc-role", "etl=team=editor:etl"],
  ];
  [service, browser] = await Promise.all([Service.start(undefined, flags), launch()]);
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "queryscope",
        client_secret: SECRET,
        redirect_uris: [`${service.url}/login/openid/callback`],
        grant_types: ["authorization_code"],
        response_types: ["code"],
      },
    ],
    claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
    cookies: { keys: ["of these tests"] },
    features: { devInteractions: { enabled: true } },
    findAccount: (_: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: `id of ${id}`, preferred_username: id, groups: GROUPS[id] ?? [] }),
    }),
    pkce: { required: () => true },
  });
  const answer = provider.callback();
  server.on("request", (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", issuer);
    if (pathname === "/auth") asked.push(searchParams);
    if (isAway) response.destroy();
    else void answer(request, response);
  });
});

afterAll(async () => {
  await browser.close();
  await service.remove();
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

/** A new window that begins a login as somebody at the provider. */
async function begin(path: string): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(WAIT_MS);
  const page = await context.newPage();
  await page.goto(`${service.url}${path}`);
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  return page;
}

async function logIn(page: Page, user: string): Promise<void> {
  await page.getByRole("link", { name: "Sign in with 127.0.0.1" }).click();
  await page.locator("input[name=login]").fill(user);
  await page.locator("input[name=password]").fill("any");
  await page.locator("button[type=submit]").click();
  await page.getByRole("button", { name: "Continue" }).click();
}

test("a user of a provider logs in with the role of the user's groups", async () => {
  const page = await begin("/queries?view=runs");
  await logIn(page, "ada");
  await page.getByRole("heading", { level: 1, name: "No run started in 14 days" }).waitFor();
  expect(page.url()).toBe(`${service.url}/queries?view=runs`);
  await page.getByText("signed in as ada").waitFor();
  const access = (await (await page.request.get(`${service.url}/api/access`)).json()) as object;
  expect(access).toMatchObject({ name: "ada", role: "admin", project: null, is_session: true });
  const said = asked.at(-1);
  expect(said?.get("code_challenge_method")).toBe("S256");
  for (const name of ["code_challenge", "state", "nonce"]) expect(said?.get(name)?.length).toBeGreaterThan(20);
  expect(said?.get("scope")).toBe("openid profile");
  // A browser knows cookies by host, not by port: those of the provider are beside those of the service.
  const cookies = await page.context().cookies(service.url);
  const own = cookies.filter(({ name }) => name.startsWith("queryscope"));
  expect(own.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).toEqual([
    ["queryscope_session", true, "Lax"],
  ]);
  // The log has it, and the list of users, too.
  const log = (await (await page.request.get(`${service.url}/api/audit`)).json()) as {
    entries: { action: string; actor: string }[];
  };
  expect(log.entries.slice(0, 2).map(({ action, actor }) => [action, actor])).toEqual([
    ["login", "ada"],
    ["user_added", "127.0.0.1"],
  ]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  await page.context().close();
});

test("a group gives a role within a project, and one that gives none is refused", async () => {
  const bob = await begin("/now");
  await logIn(bob, "bob");
  await bob.getByText("signed in as bob").waitFor();
  const access = (await (await bob.request.get(`${service.url}/api/access`)).json()) as object;
  expect(access).toMatchObject({ name: "bob", role: "editor", project: "etl" });
  await bob.context().close();
  const eve = await begin("/now");
  await logIn(eve, "eve");
  await eve.getByRole("alert").getByText("none of the groups of eve gives a role here").waitFor();
  expect((await eve.request.get(`${service.url}/api/queries`)).status()).toBe(401);
  await eve.context().close();
});

test("an answer that was not asked for in this browser is refused", async () => {
  const page = await begin("/now");
  await page.goto(`${service.url}/login/openid/callback?code=x&state=y`);
  await page.getByRole("alert").getByText("not begun here").waitFor();
  await page.context().close();
});

test("while the provider is away, the page says so", async () => {
  const page = await begin("/now");
  await logIn(page, "ada");
  await page.getByText("signed in as ada").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  isAway = true;
  // Begun while its metadata are known; the code is not taken any more.
  await page.getByRole("heading", { level: 1, name: "Sign in" }).waitFor();
  const begun = await page.request.get(`${service.url}/login/openid`, { maxRedirects: 0 });
  const state = new URL(begun.headers()["location"] ?? "").searchParams.get("state") ?? "";
  await page.goto(`${service.url}/login/openid/callback?code=x&state=${state}`);
  await page.getByRole("alert").getByText("the provider took no code").waitFor();
  expect(await page.getByLabel("Password").count()).toBe(1);
  await page.context().close();
});
