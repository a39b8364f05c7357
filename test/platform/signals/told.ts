// A process that waits until it is told to end: says that it is there and what its pid is, then what it was told.
import { untilTold } from '../../../src/platform/signals.ts';

const told = untilTold();
console.log(`pid ${process.pid}`);
console.log(`told ${await told}`);
process.exit(0);
