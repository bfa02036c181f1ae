export { activeTriggers } from './active.ts';
export { Automation } from './automation.ts';
export { triggerRules } from './definition/index.ts';
export { triggerObserver, type WriteListener } from './observer.ts';
export { type ActionPreview, previewTrigger, type TriggerPreview } from './preview.ts';
