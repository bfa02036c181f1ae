export { Descriptions, describeSystem, textOf } from './descriptions.ts';
export { typesOfSystem } from './types.ts';
