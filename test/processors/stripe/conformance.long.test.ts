// The guarded Stripe adapter over the fake: the conformance suite.
import { conforms } from '../conformance.ts';
import { guardedRig } from './rig.ts';

conforms('guarded stripe', guardedRig);
