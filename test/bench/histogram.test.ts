import { expect, test } from 'bun:test';
import { Histogram } from './histogram.ts';

test.each([0, 1, 200, 255, 256, 257, 1000, 65_535, 1_000_000, 2 ** 31 - 1])(
  'the histogram finds %d us within 0.8 percent, also after it was sent to another process',
  (micros) => {
    const first = new Histogram();
    first.record(micros);
    first.record(2 ** 31 - 1);
    const second = new Histogram();
    second.add(JSON.parse(JSON.stringify(first.encode())));
    const found = second.percentile(0.5);
    expect(found).toBeGreaterThanOrEqual(micros);
    expect(found).toBeLessThanOrEqual(micros * 1.008);
  },
);

test("the histogram's percentiles are those of the sorted values", () => {
  const histogram = new Histogram();
  for (let value = 10_000; value >= 1; value -= 1) histogram.record(value);
  for (const share of [0.5, 0.99, 0.999]) {
    expect(histogram.percentile(share) / (10_000 * share)).toBeCloseTo(1, 2);
  }
  expect(histogram.maxMicros).toBe(10_000);
  expect(histogram.count).toBe(10_000);
});
