// Many random histories, with losses.
import { endAsBooksSay } from './histories.ts';

endAsBooksSay(20);
