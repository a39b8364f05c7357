// Every hostile string in every field of every operation.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { LONGER } from './hostile.ts';
import { listOperations } from './operations.ts';
import { slowSpot, spotsOf } from './spots.ts';

setDefaultTimeout(180_000);

test.each(listOperations())('no pattern of $name is slow', (listed) => {
  expect(slowSpot(listed, { spots: spotsOf(listed), texts: LONGER })).toBeNull();
});
