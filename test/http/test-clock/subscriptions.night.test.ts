import { test } from 'bun:test';
import { expectSameStory } from './stories.ts';

test('a year in one call and in days is the same story, with dunning and trials', async () => {
  await expectSameStory(365);
}, 600_000);
