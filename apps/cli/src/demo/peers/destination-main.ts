import { runDestination } from './destination.js'

runDestination(process.env)
