import { expect, test } from "vitest";
import { each } from "./each";

test("all are worked on in turn, so many at a time, and a slow one keeps no other waiting", async () => {
  let [busy, most] = [0, 0];
  const done: number[] = [];
  const work = async (item: number): Promise<void> => {
    busy += 1;
    most = Math.max(most, busy);
    await new Promise((then) => setTimeout(then, item === 0 ? 60 : 1));
    busy -= 1;
    done.push(item);
  };
  await each([0, 1, 2, 3, 4], 2, work, () => false);
  expect(most).toBe(2);
  expect(done).toEqual([1, 2, 3, 4, 0]);
});

test("none is begun once it is over", async () => {
  const begun: number[] = [];
  const work = (item: number): Promise<void> => {
    begun.push(item);
    return Promise.resolve();
  };
  await each([1, 2, 3, 4], 1, work, () => begun.length === 2);
  expect(begun).toEqual([1, 2]);
});
