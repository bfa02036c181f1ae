export { Automation } from './automation.ts';
export { triggerRules } from './definition/index.ts';
export { type ActionPreview, previewTrigger, type TriggerPreview } from './preview.ts';
