// The Stripe adapter over the fake: the conformance suite. Guarded: conformance.long.test.ts.
import { conforms } from '../conformance.ts';
import { openRig } from './rig.ts';

conforms('stripe', openRig);
