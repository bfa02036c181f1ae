export { AgentTools } from './agent-tools.ts';
export type { McpParts } from './parts.ts';
