// One reader, whatever comes first: new events, the answer to where it begins, pages of what it
// missed. It has every event after its place, in order and once.
import { expect, test } from 'bun:test';
import { Chunk } from '../../src/event-stream/chunk.ts';
import { Reader } from '../../src/event-stream/reader.ts';
import { BEGINNING, type PositionedEvent } from '../../src/records/event-positions.ts';
import { type Random, seeded } from '../support/random.ts';

const RUNS = 2000;
/** More than comes meanwhile, on average. */
const PAGE = 6;

function eventAt(position: bigint): PositionedEvent {
  const id = `event-${position}`;
  return {
    id,
    position,
    type: 'tag.created',
    objectType: 'TAG',
    objectId: id,
    accountId: null,
    organisationId: 'o',
    mode: 'test',
    sequence: 1n,
    at: new Date(0),
    data: {},
  };
}

class World {
  /** In the order in which they get their positions. */
  readonly events: PositionedEvent[] = [];
  readonly reader: Reader;
  /** Whether new events reach the reader. */
  isFollowed = false;
  #head = BEGINNING;
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
    this.reader = new Reader({ sent: () => undefined, end: () => undefined });
  }

  get head(): bigint {
    return this.#head;
  }

  relay(most = 4): void {
    for (let count = this.#random.integer(1, most); count > 0; count -= 1) {
      const last = this.events.at(-1)?.position ?? 0n;
      this.events.push(eventAt(last + BigInt(this.#random.integer(1, 3))));
    }
  }

  /** What the follower has not handed out yet, or a part of it. */
  follow(isAll = false): void {
    const news = this.after(this.#head);
    const count = isAll ? news.length : this.#random.integer(0, news.length);
    if (count === 0) return;
    const chunk = new Chunk(this.#head, news.slice(0, count));
    this.#head = chunk.to;
    if (this.isFollowed) this.reader.take(chunk);
  }

  /** Other things happen, between two of the reader's. */
  pass(): void {
    for (let steps = this.#random.integer(0, 3); steps > 0; steps -= 1) {
      if (this.#random.chance(0.5)) this.relay();
      else this.follow();
    }
  }

  after(position: bigint): PositionedEvent[] {
    return this.events.filter((event) => event.position > position);
  }

  /** Pages, until it is live. */
  catchUp(): void {
    for (;;) {
      const { position } = this.reader;
      this.reader.holdAnew();
      this.pass();
      const found = this.after(position).slice(0, PAGE);
      this.pass();
      this.reader.send(new Chunk(position, found));
      if (found.length < PAGE && this.reader.goLive()) return;
    }
  }

  async read(): Promise<string[]> {
    const taken = new Response(this.reader.body.stream).text();
    // All that waits is taken before the end.
    await this.reader.body.drained();
    this.reader.end('ended');
    return [...(await taken).matchAll(/^id: (.*)$/gm)].map(([, id]) => id!);
  }
}

test('an event stream reader begins after an event that has a position', async () => {
  for (let seed = 0; seed < RUNS; seed += 1) {
    const random = seeded(seed);
    const world = new World(random);
    world.relay(12);
    world.follow();
    world.pass();
    // It asks where it begins, and meanwhile things go on.
    world.isFollowed = true;
    const from = random.chance(0.2) ? BEGINNING : random.pick(world.events).position;
    world.pass();
    if (!world.reader.startAt(from, world.head)) world.catchUp();
    world.pass();
    world.follow(true);
    const expected = world.after(from).map(({ id }) => id);
    expect([seed, await world.read()]).toEqual([seed, expected]);
  }
});

test('an event stream reader begins after an event that gets its position later', async () => {
  for (let seed = 0; seed < RUNS; seed += 1) {
    const random = seeded(seed);
    const world = new World(random);
    world.relay();
    world.follow();
    // No chunk has it, when it asks.
    world.isFollowed = true;
    const next = eventAt(world.events.at(-1)!.position + 2n);
    if (random.chance(0.5)) {
      world.events.push(next);
      world.pass();
      world.reader.awaitEvent(next.id);
    } else {
      world.reader.awaitEvent(next.id);
      world.follow();
      world.events.push(next);
    }
    world.pass();
    world.follow(true);
    const expected = world.after(next.position).map(({ id }) => id);
    expect([seed, await world.read()]).toEqual([seed, expected]);
  }
});

test('an event stream reader with too many events while it reads pages reads on, or comes back', async () => {
  const large = (from: bigint): Chunk => {
    const event = { ...eventAt(from + 1n), data: { name: 'x'.repeat(150_000) } };
    return new Chunk(from, [event]);
  };
  const behind = new Reader({ sent: () => undefined, end: () => undefined });
  for (let from = 0n; from < 3n; from += 1n) behind.take(large(from));
  expect(behind.startAt(3n, 3n)).toBe(false);
  const ends: string[] = [];
  const awaiting = new Reader({ sent: () => undefined, end: (why) => ends.push(why) });
  for (let from = 0n; from < 3n; from += 1n) awaiting.take(large(from));
  awaiting.awaitEvent('event-9');
  expect(ends).toEqual(['slow']);
});
