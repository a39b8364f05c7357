import { test } from 'bun:test';
import { expectSameStory } from './stories.ts';

test('a year on the test clock in one call and in days is the same, with dunning and trials', async () => {
  await expectSameStory(365);
}, 600_000);
