// The fields of all operations, one of each kind: fields of one kind are read and checked alike.
import { listOperations } from './operations.ts';
import { spotsOf } from './spots.ts';

export const OPERATIONS = listOperations();

/** The first spot of each kind. */
export const KINDS = new Map(
  OPERATIONS.flatMap((listed) =>
    spotsOf(listed).map((spot) => [spot.kind, { listed, spot }] as const),
  ).toReversed(),
);

/** For `test.each`. */
export const NAMED_KINDS = [...KINDS.values()].map(
  ({ listed, spot }) => [`${listed.name}: ${spot.where}`, listed, spot] as const,
);
