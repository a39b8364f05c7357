// The Stripe adapter over the fake: the conformance suite, bare and guarded.
import { conforms } from '../conformance.ts';
import { guardedRig, openRig } from './rig.ts';

conforms('stripe', openRig);
conforms('guarded stripe', guardedRig);
