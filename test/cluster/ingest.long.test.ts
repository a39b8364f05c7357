// As ingest.test.ts, over three nodes.
import { testSilentOwners } from './silent-owner.ts';

testSilentOwners([
  ['freeze', 3, 'who falls silent', 1],
  ['freeze', 3, 'who owns none of it', 2],
  ['deafen', 3, 'who owns the rest', 0],
]);
