// What happens while periods are settled, in its order.

/** Something that happens at a time. */
export type Moment = {
  readonly at: number;
  readonly rank: number;
  readonly happen: () => void;
  /** Nothing else may be used or costs something else from then on: it ends no stretch. */
  readonly isSame?: boolean;
  /** What begins. */
  readonly by?: Told;
};

export type Told = { readonly createdAt: number; readonly id: string };

/** At one time in this order. */
export const RANK = { end: 0, period: 1, renewal: 2, bill: 3, start: 4, span: 5 } as const;

/** Of what begins at one time, in the order in which it was told. */
const byAge = (a: Told, b: Told): number => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);

const inTurn = ({ by: a }: Moment, { by: b }: Moment): number =>
  a === undefined || b === undefined ? 0 : byAge(a, b);

export const inOrder = (a: Moment, b: Moment): number =>
  a.at - b.at || a.rank - b.rank || inTurn(a, b);
