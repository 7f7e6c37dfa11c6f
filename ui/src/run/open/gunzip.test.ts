import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { gunzip } from "./gunzip";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const gzip = (of: string | Uint8Array): Uint8Array => new Uint8Array(gzipSync(of, { level: 0 }));

test("several members behind each other are one file", async () => {
  const members = Buffer.concat([gzip("one\n"), gzip("two\n"), gzip("three\n")]);
  expect(await gunzip(members)).toEqual({ bytes: new TextEncoder().encode("one\ntwo\nthree\n"), cut: false });
});

test("what looks like a member inside one does not end it", async () => {
  const tricky = new Uint8Array([1, 0x1f, 0x8b, 0x08, 2, 0x1f, 0x8b, 0x08]);
  const { bytes, cut } = await gunzip(Buffer.concat([gzip(tricky), gzip("end")]));
  expect([...bytes]).toEqual([...tricky, ...new TextEncoder().encode("end")]);
  expect(cut).toBe(false);
});

test("a file that is cut off gives what came before", async () => {
  const whole = Buffer.concat([gzip("one\n"), gzip("two\n".repeat(1000))]);
  const { bytes, cut } = await gunzip(whole.subarray(0, whole.length - 20));
  expect(cut).toBe(true);
  expect(text(bytes)).toMatch(/^one\n/);
});

test("a bomb is cut at the limit", async () => {
  const { bytes, cut } = await gunzip(new Uint8Array(gzipSync("x".repeat(1_000_000))), 100_000);
  expect(bytes.length).toBeLessThanOrEqual(100_000);
  expect(cut).toBe(true);
});

test("a broken byte is noticed where deflate does not notice it", async () => {
  const members = Buffer.concat([gzip("one\n"), gzip("two\n")]);
  for (const at of [members.indexOf("one"), members.indexOf("two")]) {
    const broken = new Uint8Array(members);
    broken[at] = 0x58;
    expect((await gunzip(broken)).cut).toBe(true);
  }
});

test("a file that ends within a checksum or a header is cut", async () => {
  const whole = Buffer.concat([gzip("one\n"), gzip("two\n")]);
  for (const end of [whole.length - 1, whole.length - 8, whole.length / 2 + 2]) {
    const { bytes, cut } = await gunzip(whole.subarray(0, end));
    expect(cut).toBe(true);
    expect(text(bytes)).toMatch(/^one\n/);
  }
});
