import { expect, test } from "vitest";
import { MessageReader } from "./messages";

const stream = ': hello\n\nid: 7\nevent: query\ndata: {"a":1}\ndata: {"b":2}\n\nevent: pulse\nid: 8\ndata:x\r\n\r\n';
const messages = [
  { event: "query", data: '{"a":1}\n{"b":2}', id: "7" },
  { event: "pulse", data: "x", id: "8" },
];

test("messages are read wherever the pieces are cut", () => {
  expect(new MessageReader().read(stream)).toEqual(messages);
  const reader = new MessageReader();
  expect([...stream].flatMap((piece) => reader.read(piece))).toEqual(messages);
});

test("comments and fields without data are no messages, and an id lasts", () => {
  const reader = new MessageReader();
  expect(reader.read(": keep\n\nid: 3\n\nevent: x\n\n")).toEqual([]);
  expect(reader.read("data\n\n")).toEqual([{ event: "message", data: "", id: "3" }]);
});
