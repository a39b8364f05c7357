import type { Actor } from './actor.ts';
import type { ActorStore } from './actor-store.ts';

/** An item of a call, with the actor that is the customer's now. */
type Holding = { actor: Actor };

/**
 * Runs `task` and holds the actors of all items meanwhile. Otherwise, where memory is full, each
 * load would drop the actor that was loaded before it, again and again.
 */
export async function whileHeld<T>(items: readonly Holding[], task: () => Promise<T>): Promise<T> {
  for (const { actor } of items) actor.held += 1;
  try {
    return await task();
  } finally {
    for (const { actor } of items) actor.held -= 1;
  }
}

/** Finds the actors again, and holds those of now in the place of those before. */
export async function holdAgain(store: ActorStore, items: readonly Holding[]): Promise<void> {
  const holding = items.map(async (item) => {
    const actor = await store.again(item.actor);
    item.actor.held -= 1;
    actor.held += 1;
    item.actor = actor;
  });
  // Also where one of them fails: an actor that is held after the end stays in memory for ever.
  await Promise.allSettled(holding);
  await Promise.all(holding);
}
