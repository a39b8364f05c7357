// A process that waits until it is told to end. It prints that it runs and its pid, then the
// signal.
import { untilTold } from '../../../src/platform/signals.ts';

const told = untilTold();
console.log(`pid ${process.pid}`);
console.log(`told ${await told}`);
process.exit(0);
