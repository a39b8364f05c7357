import { type Static, Type } from '@sinclair/typebox';
import { EVENT_TYPES } from '../../records/events.ts';
import type { Issue } from '../edge/errors.ts';
import { PAGE } from '../list.ts';
import { EVENT_ENVELOPES } from './payloads/envelopes.ts';
import { timeOf } from './usage.ts';
import { Body, Uuid, oneOf } from './values.ts';

export const EventType = oneOf(EVENT_TYPES, { error: 'must be a type of event' });

export const EventQuery = Body({
  ...PAGE,
  type: Type.Optional(EventType),
  object_id: Type.Optional(Uuid),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'From then on.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Before then.' })),
});

/** `type` tells what stands in `data`. */
export const Event = Type.Union(
  EVENT_TYPES.map((type) => EVENT_ENVELOPES[type].schema),
  { discriminator: 'type' },
);

type Times = { readonly since: Date | undefined; readonly until: Date | undefined };

/** The bounds of a query, or what is wrong with them. */
export function timesOf({ since, until }: Static<typeof EventQuery>): Times | Issue[] {
  const issues: Issue[] = [];
  const read = (path: string, text: string | undefined): Date | undefined => {
    if (text === undefined) return undefined;
    const at = timeOf(text);
    if (at !== null) return new Date(at);
    issues.push({ path: [path], message: 'must be an ISO 8601 time with a zone' });
    return undefined;
  };
  const times = { since: read('since', since), until: read('until', until) };
  return issues.length > 0 ? issues : times;
}
