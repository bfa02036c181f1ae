export { Automation } from './automation.ts';
export { triggerRules } from './definition/index.ts';
export { type HeldWork, heldWork } from './held-work.ts';
export { type ActionPreview, previewTrigger, type TriggerPreview } from './preview.ts';
export { countJobs, type PendingQueue, pendingQueue } from './queue/index.ts';
