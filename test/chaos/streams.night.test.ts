import { testStreams } from './streams-struck.ts';

testStreams(40);
