export { evaluate, evaluateKnown } from './evaluate.ts';
