// For how long nobody was answered.
import type { Book } from '../chaos/book.ts';

const LOOK_MS = 5;

/** The longest time without a 200 while `task` ran, in milliseconds. */
export async function longestSilence(book: Book, task: () => Promise<unknown>): Promise<number> {
  let [answers, at, longest] = [book.answers, performance.now(), 0];
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - at);
    if (book.answers === answers) return;
    answers = book.answers;
    at = now;
  };
  const looking = setInterval(look, LOOK_MS);
  try {
    await task();
    look();
    return longest;
  } finally {
    clearInterval(looking);
  }
}
