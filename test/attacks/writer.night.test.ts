import { ATTACKS, attackWriter } from './writer.ts';

attackWriter(ATTACKS, 8000);
