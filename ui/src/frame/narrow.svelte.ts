// Whether the window is as narrow as that of a phone, where rows have other heights.

const query = matchMedia("(max-width: 40rem)");
let isNarrow = $state(query.matches);
query.onchange = () => (isNarrow = query.matches);

export const narrow = {
  get current(): boolean {
    return isNarrow;
  },
};
