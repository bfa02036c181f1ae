export { AgentTools } from './agent-tools.ts';
export type { McpParts } from './services.ts';
