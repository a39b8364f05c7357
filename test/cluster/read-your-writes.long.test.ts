import { testReadYourWrites } from './read-your-writes.ts';

testReadYourWrites(200);
