import { expect, test } from "vitest";
import { fillTemplate, SOURCE_NAMES, templateProblem, TRACE_NAMES } from "./link-template";

const site = { path: "/srv/my app/a?b#c.py", line: "112", function: "<lambda>" };

test("a template is filled, and a value cannot leave its place", () => {
  expect(fillTemplate("vscode://file/{path}:{line}", SOURCE_NAMES, site)).toBe(
    "vscode://file//srv/my%20app/a%3Fb%23c.py:112",
  );
  expect(fillTemplate("https://git.example/r/blob/main/{path}#L{line}", SOURCE_NAMES, site)).toBe(
    "https://git.example/r/blob/main//srv/my%20app/a%3Fb%23c.py#L112",
  );
  const trace = { trace_id: "4bf92f3577b34da6a3ce929d0e0e4736", span_id: null };
  expect(fillTemplate("http://jaeger:16686/trace/{trace_id}?uiFind={span_id}", TRACE_NAMES, trace)).toBe(
    "http://jaeger:16686/trace/4bf92f3577b34da6a3ce929d0e0e4736?uiFind=",
  );
});

test.each([
  ["javascript:alert(1)//{path}", /must begin with one of http:/],
  ["JavaScript:{path}", /must begin/],
  ["data:text/html,{path}", /must begin/],
  ["file:///{path}", /must begin/],
  ["{path}", /must begin/],
  ["//evil.example/{path}", /must begin/],
  ["https://git.example/{file}", /\{file\} is not known; there are \{path\}, \{line\}, \{function\}/],
  ["https://git.example/", /must hold \{path\}/],
  ["https://[/{path}", /no URL/],
])("%s is refused, and says why", (template, problem) => {
  expect(templateProblem(template, SOURCE_NAMES)).toMatch(problem);
  expect(fillTemplate(template, SOURCE_NAMES, site)).toBeNull();
});

test("no template is no problem, and no link", () => {
  expect(templateProblem("", SOURCE_NAMES)).toBeNull();
  expect(fillTemplate("", SOURCE_NAMES, site)).toBeNull();
});
