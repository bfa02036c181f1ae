export { describeType, detectType, SAMPLE_BYTES, unknownType } from './detect.ts';
export { serving } from './serving.ts';
