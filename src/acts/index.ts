export { type Act, type ActFacts, type Actor, isNameOfActor, newAct, operator, whoOf, whoOfUser } from './act.ts';
export { adminLog, insertAct } from './act-row.ts';
export { valueUnder } from './bounded.ts';
export { type ActRegistry, deliverActs, registryAct, systemAct } from './deliver-acts.ts';
