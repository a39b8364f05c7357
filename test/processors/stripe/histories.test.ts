// A few random histories, with losses; many in histories.long.test.ts.
import { endAsBooksSay } from './histories.ts';

endAsBooksSay(4);
