import { expect, test } from "vitest";
import { fitText, textPx } from "./cut-text";

test("capitals need more room than small letters, and a text is cut to the room there is", () => {
  const room = textPx("HashJoinExec", 12);
  expect(fitText("HashJoinExec", room, 12)).toBe("HashJoinExec");
  const cut = fitText("UNGROUPED_AGGREGATE", room, 12);
  expect(cut).toMatch(/^UNGROUPED.*…$/);
  expect(textPx(cut, 12)).toBeLessThanOrEqual(room);
  expect(fitText("CTE", 1, 12)).toBe("C…");
});
