/** Works on each item in turn, on `atOnce` of them at a time; none is begun any more once it is over. */
export async function each<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
  isOver: () => boolean,
): Promise<void> {
  const rest = items.values();
  const one = async (): Promise<void> => {
    for (const item of rest) {
      if (isOver()) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
}
