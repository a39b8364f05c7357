import { attackEventLoop } from './event-loop.ts';
import { LARGEST_CALLS } from './largest-calls.ts';

attackEventLoop({ calls: LARGEST_CALLS, forMs: 4000 });
