export { Fleet } from './fleet.ts';
export { isHungUp } from './hang-up.ts';
export { fixedSettings, Reloads } from './reloads.ts';
export { beWorker, checkInstallation, isWorker, reportListening, stopRequested } from './worker.ts';
