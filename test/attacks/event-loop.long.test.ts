// The calls that cost most to parse and to record; all of them by night, and the longest turn of
// each in the short run (stretch.test.ts).
import { attackEventLoop } from './event-loop.ts';
import { largeCall } from './largest-calls.ts';

const DEAREST = [
  '500 events of 2 KB, 10 meters',
  '500 events of 36 short pairs',
  '500 usages of 3.5 KB',
  'a body of 12 MB',
];

attackEventLoop({ calls: DEAREST.map(largeCall), forMs: 1000 });
