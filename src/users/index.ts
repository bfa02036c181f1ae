export { principalFor, Users, userTableRules } from './users.ts';
