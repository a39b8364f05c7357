// What someone does from the first page to the last, whatever shows the pages.
import type { Bed, BuyerOptions, Someone, Way } from './bed.ts';

/** `options`: of who goes there. */
export type Journey<Place> = {
  readonly what: string;
  readonly options?: BuyerOptions;
  readonly go: (place: Place, someone: Someone) => Promise<void>;
};

/** The tests of a table: their names, and what runs them. */
export function journeys<Place extends { readonly bed: Bed }>(
  table: readonly Journey<Place>[],
  way: Way,
): [what: string, run: (place: Place) => Promise<void>][] {
  return table.map(({ what, options, go }) => [
    what,
    async (place) => go(place, await place.bed.visitor(way, options)),
  ]);
}
