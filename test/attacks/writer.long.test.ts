// What the writer takes, once for its bytes and once for its rows; by night what it refuses as
// well.
import { ATTACKS, attackWriter } from './writer.ts';

attackWriter(
  ATTACKS.filter(({ statuses }) => statuses.includes(200)),
  2000,
);
