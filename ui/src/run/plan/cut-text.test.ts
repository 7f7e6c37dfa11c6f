import { expect, test, vi } from "vitest";

// A pen that writes capitals a third wider than small letters.
const measureText = (text: string): { width: number } => ({
  width: [...text].reduce((sum, letter) => sum + (/[A-Z_]/.test(letter) ? 8 : 6), 0),
});
vi.stubGlobal("document", { createElement: () => ({ getContext: () => ({ font: "", measureText }) }) });
vi.stubGlobal("getComputedStyle", () => ({ fontFamily: "sans-serif" }));
const { fitText, textPx } = await import("./cut-text");

test("capitals need more room than small letters, and a text is cut to the room there is", () => {
  const room = textPx("HashJoinExec", 12);
  expect(fitText("HashJoinExec", room, 12)).toBe("HashJoinExec");
  const cut = fitText("UNGROUPED_AGGREGATE", room, 12);
  expect(cut).toMatch(/^UNGROUPED.*…$/);
  expect(textPx(cut, 12)).toBeLessThanOrEqual(room);
  expect(fitText("CTE", 1, 12)).toBe("C…");
  expect(fitText("", room, 12)).toBe("");
});
