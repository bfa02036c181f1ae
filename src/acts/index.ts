export { type Act, type ActFacts, type ActKind, type Actor, newAct, operator, whoOf } from './act.ts';
export { adminLog, insertAct, takesActs } from './act-row.ts';
export { flagValue, withoutSecretValues } from './bounded.ts';
